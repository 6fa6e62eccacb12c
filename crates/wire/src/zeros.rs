//! Bytes for what is only a length.

use crate::size::MAX_PATH_MTU;

/// Zeros to take payload from when its contents do not matter: `&ZEROS[..1024]`.
pub static ZEROS: [u8; MAX_PATH_MTU] = [0; MAX_PATH_MTU];
