//! The macro that declares a record type once: its fields, and the type, unit and meaning of each
//! column.

/// Declares a record type: `pub struct NAME<'a> as "TABLE" in "FILE" { ... }`; with `in "FILE" and
/// "PARQUET FILE"` a Parquet file is written too. The doc comment of each field is the column's
/// meaning; its unit, if any, follows `=>`. Columns that are computed from the fields follow one of
/// them, in `then { ... }`, each with a method of the same name.
macro_rules! record {
    (
        $(#[$about:meta])*
        pub struct $record:ident<$life:lifetime> as $name:literal
            in $file:literal $(and $parquet:literal)? {
            $(
                $(#[doc = $meaning:literal])+
                $(#[serde($($serde:tt)*)])?
                $field:ident: $type:ty $(=> $unit:literal)?;
                $(then {
                    $(
                        $(#[doc = $more_meaning:literal])+
                        $more:ident: $more_type:ty $(=> $more_unit:literal)?;
                    )+
                })?
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
        pub struct $record<$life> {
            $(
                $(#[doc = $meaning])+
                $(#[doc = concat!(" Unit: ", $unit, ".")])?
                $(#[serde($($serde)*)])?
                pub $field: $type,
            )+
        }

        impl<$life> $crate::Record for $record<$life> {
            const NAME: &'static str = $name;
            const FILE: &'static str = $file;
            const PARQUET: Option<&'static str> = $crate::declaration::file_name!($($parquet)?);
            const COLUMNS: &'static [$crate::Column] = &[
                $(
                    $crate::Column::new::<$type>(
                        stringify!($field),
                        concat!($($unit)?),
                        concat!($($meaning),+),
                    ),
                    $($(
                        $crate::Column::new::<$more_type>(
                            stringify!($more),
                            concat!($($more_unit)?),
                            concat!($($more_meaning),+),
                        ),
                    )+)?
                )+
            ];

            fn values<E>(
                &self,
                mut show: impl FnMut($crate::Value<'_>) -> Result<(), E>,
            ) -> Result<(), E> {
                use $crate::column::Field as _;
                $(
                    show(self.$field.value())?;
                    $($(show(self.$more().value())?;)+)?
                )+
                Ok(())
            }
        }
    };
}

/// The name of a file as an `Option`.
macro_rules! file_name {
    () => {
        None
    };
    ($name:literal) => {
        Some($name)
    };
}

pub(crate) use {file_name, record};
