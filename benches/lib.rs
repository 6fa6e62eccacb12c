//! Nothing: the benches beside this file measure the other crates. See `README.md`.
