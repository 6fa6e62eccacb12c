//! Payload bytes where only the length matters.

use crate::size::MAX_PATH_MTU;

/// Zeros for payload whose content does not matter: `&ZEROS[..1024]`.
pub static ZEROS: [u8; MAX_PATH_MTU] = [0; MAX_PATH_MTU];
