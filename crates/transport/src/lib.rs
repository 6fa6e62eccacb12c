//! The RDMA end host, sans-IO: NIC, queue pairs, congestion control
