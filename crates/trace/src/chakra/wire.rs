//! The messages of a Chakra execution trace, by the field numbers of its schema.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attr: Vec<Attribute>,
}

/// Every other message.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(int32, tag = "3")]
    pub(crate) kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub(crate) ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub(crate) data_deps: Vec<u64>,
    #[prost(uint64, tag = "6")]
    pub(crate) start_time_micros: u64,
    #[prost(uint64, tag = "7")]
    pub(crate) duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub(crate) inputs: Option<IoInfo>,
    #[prost(message, optional, tag = "9")]
    pub(crate) outputs: Option<IoInfo>,
    #[prost(message, repeated, tag = "10")]
    pub(crate) attr: Vec<Attribute>,
}

/// Inputs or outputs of an operator, as text.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct IoInfo {
    #[prost(string, tag = "1")]
    pub(crate) values: String,
    #[prost(string, tag = "2")]
    pub(crate) shapes: String,
    #[prost(string, tag = "3")]
    pub(crate) types: String,
}

/// A name and a value of one of 30 kinds.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) doc_string: String,
    #[prost(
        oneof = "Value",
        tags = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32"
    )]
    pub(crate) value: Option<Value>,
}

/// A list of values, a message with one field.
macro_rules! lists {
    ($($name:ident: $kind:tt $type:ty;)+) => {
        $(
            #[derive(Clone, PartialEq, Message)]
            pub(crate) struct $name {
                #[prost($kind, repeated, tag = "1")]
                pub(crate) values: Vec<$type>,
            }
        )+
    };
}

lists! {
    DoubleList: double f64;
    FloatList: float f32;
    Int32List: int32 i32;
    Int64List: int64 i64;
    Uint32List: uint32 u32;
    Uint64List: uint64 u64;
    Sint32List: sint32 i32;
    Sint64List: sint64 i64;
    Fixed32List: fixed32 u32;
    Fixed64List: fixed64 u64;
    Sfixed32List: sfixed32 i32;
    Sfixed64List: sfixed64 i64;
    BoolList: bool bool;
    StringList: string String;
}

/// A list of byte strings.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct BytesList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) values: Vec<Vec<u8>>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(message, tag = "4")]
    DoubleList(DoubleList),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(message, tag = "6")]
    FloatList(FloatList),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(message, tag = "8")]
    Int32List(Int32List),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(message, tag = "10")]
    Int64List(Int64List),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(message, tag = "12")]
    Uint32List(Uint32List),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(message, tag = "14")]
    Uint64List(Uint64List),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(message, tag = "16")]
    Sint32List(Sint32List),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(message, tag = "18")]
    Sint64List(Sint64List),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(message, tag = "20")]
    Fixed32List(Fixed32List),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(message, tag = "22")]
    Fixed64List(Fixed64List),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(message, tag = "24")]
    Sfixed32List(Sfixed32List),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(message, tag = "26")]
    Sfixed64List(Sfixed64List),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    BoolList(BoolList),
    #[prost(string, tag = "29")]
    String(String),
    #[prost(message, tag = "30")]
    StringList(StringList),
    #[prost(bytes = "vec", tag = "31")]
    Bytes(Vec<u8>),
    #[prost(message, tag = "32")]
    BytesList(BytesList),
}

impl Value {
    /// The integer, of whatever kind: programs that write traces differ in the kinds that they use.
    pub(crate) fn integer(&self) -> Option<i128> {
        Some(match *self {
            Self::Int32(value) | Self::Sint32(value) | Self::Sfixed32(value) => value.into(),
            Self::Int64(value) | Self::Sint64(value) | Self::Sfixed64(value) => value.into(),
            Self::Uint32(value) | Self::Fixed32(value) => value.into(),
            Self::Uint64(value) | Self::Fixed64(value) => value.into(),
            _ => return None,
        })
    }

    /// The kind of value, as the schema calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Double(_) => "double_val",
            Self::DoubleList(_) => "double_list",
            Self::Float(_) => "float_val",
            Self::FloatList(_) => "float_list",
            Self::Int32(_) => "int32_val",
            Self::Int32List(_) => "int32_list",
            Self::Int64(_) => "int64_val",
            Self::Int64List(_) => "int64_list",
            Self::Uint32(_) => "uint32_val",
            Self::Uint32List(_) => "uint32_list",
            Self::Uint64(_) => "uint64_val",
            Self::Uint64List(_) => "uint64_list",
            Self::Sint32(_) => "sint32_val",
            Self::Sint32List(_) => "sint32_list",
            Self::Sint64(_) => "sint64_val",
            Self::Sint64List(_) => "sint64_list",
            Self::Fixed32(_) => "fixed32_val",
            Self::Fixed32List(_) => "fixed32_list",
            Self::Fixed64(_) => "fixed64_val",
            Self::Fixed64List(_) => "fixed64_list",
            Self::Sfixed32(_) => "sfixed32_val",
            Self::Sfixed32List(_) => "sfixed32_list",
            Self::Sfixed64(_) => "sfixed64_val",
            Self::Sfixed64List(_) => "sfixed64_list",
            Self::Bool(_) => "bool_val",
            Self::BoolList(_) => "bool_list",
            Self::String(_) => "string_val",
            Self::StringList(_) => "string_list",
            Self::Bytes(_) => "bytes_val",
            Self::BytesList(_) => "bytes_list",
        }
    }
}
