//! The state of a simulation as bytes, for checkpoints.
//!
//! Two kinds of things are saved. *Values*, such as a packet or a timer, are saved completely: they
//! derive [`BorshSerialize`] and [`BorshDeserialize`], and loading makes a new one. *States*, such
//! as a queue pair, also have settings, which come from the scenario and are not saved:
//! [`State::load`] changes an object in place that was built from the scenario. So a run can
//! continue from a checkpoint with other settings, and checkpoints stay small.
//!
//! [`state!`] implements [`State`] for a structure, and lists all of its fields. A field that is
//! not listed does not compile, so a new field cannot be forgotten.

use std::io::{Error, ErrorKind};

pub use borsh::{BorshDeserialize, BorshSerialize};

/// The result of saving or loading. An error means that the bytes are not a checkpoint, or belong
/// to another scenario.
pub type Result<T = ()> = std::io::Result<T>;

/// An object whose state is saved and loaded, and whose settings are known from the scenario.
pub trait State {
    /// Appends its state to `to`.
    ///
    /// # Errors If a floating-point value is not a number (NaN).
    fn save(&self, to: &mut Vec<u8>) -> Result;

    /// Reads its state from the beginning of `from`, and removes it there.
    ///
    /// # Errors If these are not bytes that [`save`](Self::save) wrote for an object with similar
    /// settings. The object may then be loaded in part.
    fn load(&mut self, from: &mut &[u8]) -> Result;
}

/// Appends a value.
///
/// # Errors If a floating-point value is not a number (NaN).
pub fn save_value<T: BorshSerialize + ?Sized>(value: &T, to: &mut Vec<u8>) -> Result {
    value.serialize(to)
}

/// Reads a value from the beginning of `from`, and removes it there.
///
/// # Errors If the bytes are not such a value.
pub fn load_value<T: BorshDeserialize>(from: &mut &[u8]) -> Result<T> {
    T::deserialize(from)
}

/// The error that saved data does not fit the object into which it is loaded.
pub fn unfit(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("what was saved does not fit: {what}"))
}

/// Implements [`State`] for a structure. Its fields are listed as `values`, as `states` (which
/// implement [`State`] themselves), or as `kept`, which are settings and are not saved. Type
/// parameters are in brackets before the name.
///
/// ```
/// struct Shaper { rate: u64, tokens: u64, burst: Burst }
/// struct Burst { most: u64, used: u64 }
/// rocelab_state::state!(Burst { values: used; kept: most });
/// rocelab_state::state!(Shaper { values: tokens; states: burst; kept: rate });
///
/// use rocelab_state::State as _;
/// let (mut saved, mut other) = (Vec::new(), Shaper { rate: 9, tokens: 0, burst: Burst { most: 8, used: 0 } });
/// Shaper { rate: 1, tokens: 2, burst: Burst { most: 3, used: 4 } }.save(&mut saved)?;
/// other.load(&mut &saved[..])?;
/// assert_eq!((other.rate, other.tokens, other.burst.most, other.burst.used), (9, 2, 8, 4));
/// # Ok::<(), std::io::Error>(())
/// ```
#[macro_export]
macro_rules! state {
    (@impl [$($parameters:tt)*] $type:ty {
        $(values: $($value:ident),+ $(,)?)?
        $(; states: $($state:ident),+ $(,)?)?
        $(; kept: $($kept:ident),+ $(,)?)?
    }) => {
        impl<$($parameters)*> $crate::State for $type {
            fn save(&self, to: &mut ::std::vec::Vec<u8>) -> $crate::Result {
                let Self { $($($value,)+)? $($($state,)+)? $($($kept: _,)+)? } = self;
                $($($crate::save_value($value, to)?;)+)?
                $($($crate::State::save($state, to)?;)+)?
                let _ = to;
                Ok(())
            }

            fn load(&mut self, from: &mut &[u8]) -> $crate::Result {
                let Self { $($($value,)+)? $($($state,)+)? $($($kept: _,)+)? } = self;
                $($(*$value = $crate::load_value(from)?;)+)?
                $($($crate::State::load($state, from)?;)+)?
                let _ = from;
                Ok(())
            }
        }
    };
    // A structure without values.
    (@impl [$($parameters:tt)*] $type:ty {
        states: $($state:ident),+ $(,)?
        $(; kept: $($kept:ident),+ $(,)?)?
    }) => {
        impl<$($parameters)*> $crate::State for $type {
            fn save(&self, to: &mut ::std::vec::Vec<u8>) -> $crate::Result {
                let Self { $($state,)+ $($($kept: _,)+)? } = self;
                $($crate::State::save($state, to)?;)+
                Ok(())
            }

            fn load(&mut self, from: &mut &[u8]) -> $crate::Result {
                let Self { $($state,)+ $($($kept: _,)+)? } = self;
                $($crate::State::load($state, from)?;)+
                Ok(())
            }
        }
    };
    ([$($parameters:tt)*] $($described:tt)+) => {
        $crate::state!(@impl [$($parameters)*] $($described)+);
    };
    ($($described:tt)+) => {
        $crate::state!(@impl [] $($described)+);
    };
}

/// The number of elements is a setting.
impl<T: State> State for [T] {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        save_value(&(self.len() as u64), to)?;
        self.iter().try_for_each(|one| one.save(to))
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        if load_value::<u64>(from)? != self.len() as u64 {
            return Err(unfit("the number of parts of something"));
        }
        self.iter_mut().try_for_each(|one| one.load(from))
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        self[..].save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self[..].load(from)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        self[..].save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self[..].load(from)
    }
}

/// Whether it is present is a setting.
impl<T: State> State for Option<T> {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        save_value(&self.is_some(), to)?;
        self.as_ref().map_or(Ok(()), |one| one.save(to))
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        match (load_value::<bool>(from)?, self) {
            (true, Some(one)) => one.load(from),
            (false, None) => Ok(()),
            _ => Err(unfit("whether something is there")),
        }
    }
}

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        (**self).save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        (**self).load(from)
    }
}

/// There is no state.
impl State for () {
    fn save(&self, _: &mut Vec<u8>) -> Result {
        Ok(())
    }

    fn load(&mut self, _: &mut &[u8]) -> Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Port {
        rate: u64,
        sent: Vec<u32>,
        queue: Option<Queue>,
    }

    #[derive(Debug, Default, PartialEq)]
    struct Queue {
        weight: u8,
        bytes: u64,
    }

    state!(Queue { values: bytes; kept: weight });
    state!(Port { values: sent; states: queue; kept: rate });

    fn port(rate: u64, sent: &[u32], queue: Option<(u8, u64)>) -> Port {
        let queue = queue.map(|(weight, bytes)| Queue { weight, bytes });
        Port { rate, sent: sent.to_vec(), queue }
    }

    fn saved(port: &Port) -> Vec<u8> {
        let mut bytes = Vec::new();
        port.save(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn state_is_loaded_and_settings_are_kept() {
        let bytes = saved(&port(100, &[7, 8], Some((1, 9_000))));
        let mut other = port(25, &[], Some((2, 0)));
        let mut rest = &bytes[..];
        other.load(&mut rest).unwrap();
        assert_eq!(other, port(25, &[7, 8], Some((2, 9_000))));
        assert!(rest.is_empty());
    }

    #[derive(Debug, PartialEq)]
    struct Named<'a, T> {
        name: &'a str,
        newest: T,
    }

    state!(['a, T: BorshSerialize + BorshDeserialize] Named<'a, T> { values: newest; kept: name });

    #[test]
    fn type_parameters_stand_in_brackets() {
        let mut bytes = Vec::new();
        Named { name: "one", newest: 7_u16 }.save(&mut bytes).unwrap();
        let mut other = Named { name: "other", newest: 0_u16 };
        other.load(&mut &bytes[..]).unwrap();
        assert_eq!(other, Named { name: "other", newest: 7 });
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let bytes = saved(&port(100, &[7, 8], Some((1, 9_000))));
        assert!(port(100, &[], None).load(&mut &bytes[..]).is_err(), "no queue");
        for end in 0..bytes.len() {
            assert!(port(1, &[], Some((1, 0))).load(&mut &bytes[..end]).is_err(), "{end}");
        }
        let two = vec![port(1, &[], None), port(1, &[], None)];
        let mut bytes = Vec::new();
        two.save(&mut bytes).unwrap();
        assert!([port(1, &[], None)].load(&mut &bytes[..]).is_err());
    }
}
