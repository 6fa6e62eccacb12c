//! Properties of all messages: any bytes can be parsed and emitted unchanged, and every text is one
//! line.

use proptest::prelude::*;

use super::*;
use crate::{Layer, ParseError};

proptest! {
    #[test]
    fn any_message_comes_back(
        transaction_id: u64,
        attribute in proptest::sample::select(CmAttribute::ALL.to_vec()),
        body in proptest::collection::vec(any::<u8>(), BODY_LEN),
    ) {
        let header = MadHeader::cm(transaction_id, attribute.to_u16());
        let bytes = [header.to_bytes().as_slice(), &body].concat();
        let mad = Mad::parse(&bytes).unwrap();
        let named = !matches!(attribute, CmAttribute::Lap | CmAttribute::Apr);
        prop_assert_eq!(mad.message.attribute(), named.then_some(attribute));
        prop_assert_eq!(mad.to_bytes().to_vec(), bytes.clone());
        let text = mad.to_string();
        prop_assert!(text.starts_with(&format!("CM {attribute} tid ")), "{}", text);
        prop_assert!(!text.contains('\n'));
    }

    #[test]
    fn any_mad_comes_back(bytes in proptest::collection::vec(any::<u8>(), MAD_LEN..MAD_LEN + 8)) {
        let mad = Mad::parse(&bytes).unwrap();
        prop_assert_eq!(mad.to_bytes().to_vec(), bytes[..MAD_LEN].to_vec());
    }
}

#[test]
fn impossible_length() {
    for had in 0..MAD_LEN {
        let error = ParseError::Truncated { layer: Layer::Mad, needed: MAD_LEN, had, offset: 0 };
        assert_eq!(Mad::parse(&vec![0; had]), Err(error));
    }
}

/// A field with too many bits does not change its neighbours.
#[test]
fn what_does_not_fit_is_dropped() {
    let wide = Req {
        local_qpn: u32::MAX,
        starting_psn: u32::MAX,
        transport_service_type: u8::MAX,
        retry_count: u8::MAX,
        rnr_retry_count: u8::MAX,
        extended_transport_type: u8::MAX,
        ..Req::default()
    };
    let bytes = Mad::new(0, CmMessage::Req(wide)).to_bytes();
    let Mad { message: CmMessage::Req(read), .. } = Mad::parse(&bytes).unwrap() else { panic!() };
    let fitting = Req {
        local_qpn: 0xff_ffff,
        starting_psn: 0xff_ffff,
        transport_service_type: 3,
        retry_count: 7,
        rnr_retry_count: 7,
        extended_transport_type: 7,
        private_data: &[0; Req::PRIVATE_DATA_LEN],
        ..Req::default()
    };
    assert_eq!(read, fitting);
}

#[test]
fn private_data_is_cut_and_padded() {
    for len in [0, 1, 91, 92, 93, 300] {
        let data: Vec<u8> = (1..=len).map(|i: u16| u8::try_from(i % 251).unwrap()).collect();
        let req = Req { private_data: &data, ..Req::default() };
        let bytes = Mad::new(0, CmMessage::Req(req)).to_bytes();
        let mut expected = data.clone();
        expected.resize(92, 0);
        assert_eq!(bytes[MAD_LEN - 92..], expected);
    }
}

/// The sizes in Linux (`include/rdma/ib_cm.h`, `enum ib_cm_data_size`).
#[test]
fn room_for_private_data() {
    assert_eq!(Req::PRIVATE_DATA_LEN, 92);
    assert_eq!(Mra::PRIVATE_DATA_LEN, 222);
    assert_eq!(Rej::PRIVATE_DATA_LEN, 148);
    assert_eq!(Rej::ADDITIONAL_INFORMATION_LEN, 72);
    assert_eq!(Rep::PRIVATE_DATA_LEN, 196);
    assert_eq!(Rtu::PRIVATE_DATA_LEN, 224);
    assert_eq!(Dreq::PRIVATE_DATA_LEN, 220);
    assert_eq!(Drep::PRIVATE_DATA_LEN, 224);
    assert_eq!(SidrReq::PRIVATE_DATA_LEN, 216);
    assert_eq!(SidrRep::PRIVATE_DATA_LEN, 136);
    assert_eq!(SidrRep::ADDITIONAL_INFORMATION_LEN, 72);
}

#[test]
fn timeouts() {
    assert_eq!(timeout_ns(0), 4_096);
    assert_eq!(timeout_ns(20), 4_294_967_296);
    assert_eq!(timeout_ns(31), 8_796_093_022_208);
    assert_eq!(timeout_ns(32), timeout_ns(0));
}
