//! A decoded file as JSON, with the kind of every attribute.

use serde_json::{Map, Value as Json, json};

use super::wire::{Attribute, GlobalMetadata, IoInfo, Node, Value};
use super::{File, node_type};

/// A file as JSON. Floating-point values are there as their 64 bits too, bytes in hexadecimal.
pub(super) fn file(file: &File) -> Json {
    let nodes: Vec<_> = file.nodes.iter().map(|read| node(&read.node)).collect();
    json!({ "global_metadata": metadata(&file.metadata), "nodes": nodes })
}

fn metadata(metadata: &GlobalMetadata) -> Json {
    let attr: Vec<_> = metadata.attr.iter().map(attribute).collect();
    json!({ "version": metadata.version, "attr": attr })
}

fn node(node: &Node) -> Json {
    let mut object = Map::new();
    let mut put = |key: &str, value: Json| object.insert(key.to_owned(), value);
    put("id", node.id.into());
    put("name", node.name.as_str().into());
    put("type", node_type(node.kind).map_or_else(|| node.kind.into(), Json::from));
    put("ctrl_deps", node.ctrl_deps.as_slice().into());
    put("data_deps", node.data_deps.as_slice().into());
    put("start_time_micros", node.start_time_micros.into());
    put("duration_micros", node.duration_micros.into());
    for (key, info) in [("inputs", &node.inputs), ("outputs", &node.outputs)] {
        if let Some(IoInfo { values, shapes, types }) = info {
            put(key, json!({ "values": values, "shapes": shapes, "types": types }));
        }
    }
    put("attr", node.attr.iter().map(attribute).collect());
    Json::Object(object)
}

fn attribute(attribute: &Attribute) -> Json {
    let mut object = Map::new();
    object.insert("name".to_owned(), attribute.name.as_str().into());
    if !attribute.doc_string.is_empty() {
        object.insert("doc_string".to_owned(), attribute.doc_string.as_str().into());
    }
    let kind = attribute.value.as_ref().map(Value::kind);
    object.insert("kind".to_owned(), kind.into());
    object.insert("value".to_owned(), attribute.value.as_ref().map_or(Json::Null, value));
    Json::Object(object)
}

fn value(value: &Value) -> Json {
    match value {
        Value::Double(value) => double(*value),
        Value::DoubleList(list) => list.values.iter().map(|value| double(*value)).collect(),
        Value::Float(value) => double((*value).into()),
        Value::FloatList(list) => list.values.iter().map(|value| double((*value).into())).collect(),
        Value::Int32(value) | Value::Sint32(value) | Value::Sfixed32(value) => (*value).into(),
        Value::Int64(value) | Value::Sint64(value) | Value::Sfixed64(value) => (*value).into(),
        Value::Uint32(value) | Value::Fixed32(value) => (*value).into(),
        Value::Uint64(value) | Value::Fixed64(value) => (*value).into(),
        Value::Int32List(list) => list.values.as_slice().into(),
        Value::Int64List(list) => list.values.as_slice().into(),
        Value::Uint32List(list) => list.values.as_slice().into(),
        Value::Uint64List(list) => list.values.as_slice().into(),
        Value::Sint32List(list) => list.values.as_slice().into(),
        Value::Sint64List(list) => list.values.as_slice().into(),
        Value::Fixed32List(list) => list.values.as_slice().into(),
        Value::Fixed64List(list) => list.values.as_slice().into(),
        Value::Sfixed32List(list) => list.values.as_slice().into(),
        Value::Sfixed64List(list) => list.values.as_slice().into(),
        Value::Bool(value) => (*value).into(),
        Value::BoolList(list) => list.values.as_slice().into(),
        Value::String(value) => value.as_str().into(),
        Value::StringList(list) => list.values.as_slice().into(),
        Value::Bytes(value) => bytes(value),
        Value::BytesList(list) => list.values.iter().map(|value| bytes(value)).collect(),
    }
}

fn double(value: f64) -> Json {
    json!({ "f64_hex": format!("{:016x}", value.to_bits()), "approx": value })
}

fn bytes(value: &[u8]) -> Json {
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "bytes_hex": hex })
}
