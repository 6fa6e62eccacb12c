//! Types, their implementations, and where they are passed.

/// A struct.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) fields: usize,
    /// Whether it is deserialized, so that its fields are keys of a file.
    pub(crate) is_record: bool,
}

/// The methods of one inherent `impl` block, not those of a trait.
#[derive(Debug)]
pub(crate) struct Implementation {
    pub(crate) of: String,
    pub(crate) methods: usize,
}

/// A type that a function takes, or a struct holds, by `&mut`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passed(pub(crate) String);

impl Type {
    pub(crate) fn of_struct(item: &syn::ItemStruct) -> Self {
        let derives = item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let is_record = derives.into_iter().any(|derive| {
            let syn::Meta::List(list) = &derive.meta else { return false };
            ["Deserialize", "Serialize", "Parser", "Args"]
                .iter()
                .any(|name| list.tokens.to_string().split(", ").any(|derived| derived == *name))
        });
        Self { name: item.ident.to_string(), fields: item.fields.len(), is_record }
    }
}

impl Implementation {
    pub(crate) fn of(item: &syn::ItemImpl) -> Option<Self> {
        let methods = item.items.iter().filter(|item| matches!(item, syn::ImplItem::Fn(_))).count();
        Some(Self { of: name_of(&item.self_ty)?, methods })
    }
}

impl Passed {
    /// Those of a function's parameters.
    pub(crate) fn of(signature: &syn::Signature) -> Vec<Self> {
        let types = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        types.filter_map(Self::by).collect()
    }

    /// Those of a struct's fields: methods of such a struct are functions that take what it holds.
    pub(crate) fn held_by(item: &syn::ItemStruct) -> Vec<Self> {
        item.fields.iter().filter_map(|field| Self::by(&field.ty)).collect()
    }

    fn by(of: &syn::Type) -> Option<Self> {
        match of {
            syn::Type::Reference(reference) if reference.mutability.is_some() => {
                name_of(&reference.elem).map(Self)
            }
            _ => None,
        }
    }
}

/// The last name of a type's path.
fn name_of(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}
