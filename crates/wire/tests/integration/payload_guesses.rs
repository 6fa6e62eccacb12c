//! What tshark must not guess, in tests of several crates.

/// Dissectors that guess the protocol of payload, and report malformed packets.
pub(crate) const PAYLOAD_GUESSES: [&str; 10] = [
    "rpcrdma_infiniband",
    "eth_over_ib",
    "mellanox_eoib",
    "smcr_infiniband",
    "sdp_infiniband",
    "smb_direct_infiniband",
    "nvme_rdma",
    "lnet_ib",
    "iser_infiniband",
    "fc_infiniband",
];
