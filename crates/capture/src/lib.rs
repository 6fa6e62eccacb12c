//! Packet captures: pcap and pcapng
