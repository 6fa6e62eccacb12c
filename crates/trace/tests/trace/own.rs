//! Small traces made by hand: an encoder of protobuf of its own, apart from the one that is tested.

/// A message that is put together.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Goes on with a message.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn varint(mut self, field: u64, value: u64) -> Self {
        push_varint(&mut self.0, field << 3);
        push_varint(&mut self.0, value);
        self
    }

    pub(crate) fn data(mut self, field: u64, data: &[u8]) -> Self {
        push_varint(&mut self.0, field << 3 | 2);
        push_varint(&mut self.0, data.len() as u64);
        self.0.extend(data);
        self
    }

    pub(crate) fn text(self, field: u64, text: &str) -> Self {
        self.data(field, text.as_bytes())
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// A field of a node.
pub(crate) enum Field {
    Varint(u64, u64),
    Packed(u64, Vec<u64>),
    Bytes(u64, Vec<u8>),
    Raw(Vec<u8>),
}

/// The value of an attribute.
#[derive(Clone, Copy)]
pub(crate) enum Attr {
    /// An integer in the field of one of the kinds. [`u64::MAX`] is -1.
    Integer(u64, u64),
    Text(&'static str),
}

/// A node.
pub(crate) fn node(
    id: u64,
    name: &str,
    kind: u64,
    fields: &[Field],
    attrs: &[(&str, Attr)],
) -> Vec<u8> {
    let mut message = Message::new().varint(1, id).text(2, name).varint(3, kind);
    for field in fields {
        message = match field {
            Field::Varint(number, value) => message.varint(*number, *value),
            Field::Packed(number, values) => {
                let mut packed = Vec::new();
                values.iter().for_each(|value| push_varint(&mut packed, *value));
                message.data(*number, &packed)
            }
            Field::Bytes(number, bytes) => message.data(*number, bytes),
            Field::Raw(bytes) => message.raw(bytes),
        };
    }
    for (name, value) in attrs {
        let attr = Message::new().text(1, name);
        let attr = match *value {
            Attr::Text(text) => attr.text(29, text),
            Attr::Integer(field, value) => match field {
                // Zigzag of a number that is not negative.
                15 | 17 => attr.varint(field, value << 1),
                19 | 23 => {
                    let value = u32::try_from(value).expect("fits");
                    let mut raw = Vec::new();
                    push_varint(&mut raw, field << 3 | 5);
                    raw.extend(value.to_le_bytes());
                    attr.raw(&raw)
                }
                21 | 25 => {
                    let mut raw = Vec::new();
                    push_varint(&mut raw, field << 3 | 1);
                    raw.extend(value.to_le_bytes());
                    attr.raw(&raw)
                }
                _ => attr.varint(field, value),
            },
        };
        message = message.data(10, &attr.bytes());
    }
    message.bytes()
}

/// A file of nodes, with empty metadata.
pub(crate) fn et(nodes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0];
    for node in nodes {
        push_varint(&mut out, node.len() as u64);
        out.extend(node);
    }
    out
}
