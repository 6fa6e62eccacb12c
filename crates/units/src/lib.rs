//! Quantities that cannot be mixed up: time, bandwidth, bytes and cable length
