//! Bytes to typed headers and back: RoCE v1 and v2, 802.1Qbb and 802.3x, ICRC and FCS
