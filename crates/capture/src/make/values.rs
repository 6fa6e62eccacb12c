//! Values of a description with a syntax of their own.

use std::net::{IpAddr, Ipv4Addr};

use rocelab_wire::{Ecn, Gid, MacAddress, VlanTag};
use toml::Spanned;

use super::document::Vlan;
use super::error::Fault;

pub(super) fn gid(
    key: &'static str,
    value: Option<&Spanned<String>>,
    default: [u8; 4],
) -> Result<Gid, Fault> {
    let Some(text) = value else { return Ok(Ipv4Addr::from(default).into()) };
    match text.as_ref().parse() {
        Ok(IpAddr::V4(address)) => Ok(address.into()),
        Ok(IpAddr::V6(address)) => Ok(address.into()),
        Err(_) => Err(Fault::new(key, text, "is no IP address", "write one, such as \"10.0.0.1\"")),
    }
}

pub(super) fn mac(
    key: &'static str,
    value: Option<&Spanned<String>>,
    default: [u8; 6],
) -> Result<MacAddress, Fault> {
    let Some(text) = value else { return Ok(MacAddress(default)) };
    let octets: Option<Vec<u8>> =
        text.as_ref().split(':').map(|octet| u8::from_str_radix(octet, 16).ok()).collect();
    let octets = octets.and_then(|octets| <[u8; 6]>::try_from(octets).ok());
    let fix = "write six octets in hex, such as \"02:00:00:00:00:01\"";
    octets.map(MacAddress).ok_or_else(|| Fault::new(key, text, "is no MAC address", fix))
}

pub(super) fn ecn(value: Option<&Spanned<String>>, default: Ecn) -> Result<Ecn, Fault> {
    let Some(text) = value else { return Ok(default) };
    Ok(match text.as_ref().as_str() {
        "not-ect" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        _ => {
            let fix = "write \"not-ect\", \"ect0\", \"ect1\" or \"ce\"";
            return Err(Fault::new("ecn", text, "is no ECN codepoint", fix));
        }
    })
}

pub(super) fn vlan(value: Option<&Spanned<Vlan>>) -> Result<Option<VlanTag>, Fault> {
    let Some(tag) = value else { return Ok(None) };
    let Vlan { pcp, vid } = *tag.as_ref();
    if pcp > 7 || vid > 0xfff {
        let fix = "write a pcp up to 7 and a vid up to 4095";
        return Err(Fault::new("vlan", tag, "does not fit an 802.1Q tag", fix));
    }
    Ok(Some(VlanTag::new(pcp, vid)))
}

/// The value, or `default` if the key is absent.
pub(super) fn or<T: Copy>(value: &Option<Spanned<T>>, default: T) -> T {
    value.as_ref().map_or(default, |value| *value.as_ref())
}

/// Packets of a message, from 0, in a key's list.
pub(super) fn places(list: &Option<Spanned<Vec<usize>>>) -> &[usize] {
    list.as_ref().map_or(&[], |list| list.as_ref())
}

/// A number below `limit`.
pub(super) fn below<T: Copy + Into<u64>>(
    key: &'static str,
    value: Option<&Spanned<T>>,
    limit: u64,
    default: T,
) -> Result<T, Fault> {
    let Some(number) = value else { return Ok(default) };
    let value = *number.as_ref();
    if value.into() < limit {
        return Ok(value);
    }
    let fix = format!("write a number up to {}", limit - 1);
    Err(Fault::new(key, number, "does not fit its field", fix))
}

/// Payload of `len` bytes, or of the length of its hex digits.
pub(super) fn payload(
    pattern: Option<&Spanned<String>>,
    len: Option<usize>,
) -> Result<Vec<u8>, Fault> {
    let zeros = || vec![0; len.unwrap_or(0)];
    let Some(text) = pattern else { return Ok(zeros()) };
    match text.as_ref().as_str() {
        "zeros" => return Ok(zeros()),
        "counting" => return Ok((0..=255).cycle().take(len.unwrap_or(0)).collect()),
        _ => {}
    }
    let digits: Vec<u8> =
        text.as_ref().bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(octet).collect();
    let fix = "write \"zeros\", \"counting\", or bytes in hex";
    match bytes {
        Some(bytes)
            if digits.len().is_multiple_of(2) && len.is_none_or(|len| len == bytes.len()) =>
        {
            Ok(bytes)
        }
        Some(_) if digits.len().is_multiple_of(2) => {
            let fix = "leave bytes out: the digits say how many there are";
            Err(Fault::new("payload", text, "has another length than bytes says", fix))
        }
        _ => Err(Fault::new("payload", text, "is no payload", fix)),
    }
}

/// DSCP and ECN codepoint, given alone or as the traffic class that both together are.
pub(super) fn class(
    dscp: Option<&Spanned<u8>>,
    codepoint: Option<&Spanned<String>>,
    traffic_class: Option<&Spanned<u8>>,
    default: (u8, Ecn),
) -> Result<(u8, Ecn), Fault> {
    let Some(class) = traffic_class else {
        return Ok((below("dscp", dscp, 64, default.0)?, ecn(codepoint, default.1)?));
    };
    if dscp.is_some() || codepoint.is_some() {
        let what = "has a DSCP and an ECN codepoint, and one of them is given too";
        let fix = "leave out dscp and ecn, or traffic_class";
        return Err(Fault::new("traffic_class", class, what, fix));
    }
    Ok((class.as_ref() >> 2, Ecn::from_bits(*class.as_ref())))
}
