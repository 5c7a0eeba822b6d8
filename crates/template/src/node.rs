//! The syntax tree of a template, independent of its language.
//!
//! Chains of operators and filters are lists, so that the depth of the tree is that of the text.

use serde_json::Value;

pub(super) enum Node<'t> {
    Text(&'t str),
    Emit(Expr<'t>),
    /// The first branch whose condition is true, else the rest.
    If {
        arms: Vec<(Expr<'t>, Vec<Node<'t>>)>,
        otherwise: Vec<Node<'t>>,
    },
    /// Once for each item of a list or object.
    Each {
        over: Expr<'t>,
        bind: Bind<'t>,
        body: Vec<Node<'t>>,
        otherwise: Vec<Node<'t>>,
    },
    /// Once, with the value as the context.
    With {
        of: Expr<'t>,
        params: Vec<&'t str>,
        body: Vec<Node<'t>>,
        otherwise: Vec<Node<'t>>,
    },
    /// Mustache's block: `Each` for a list, `If` for `true`, `With` for anything else.
    Section {
        of: Expr<'t>,
        body: Vec<Node<'t>>,
        otherwise: Vec<Node<'t>>,
    },
    Set {
        name: &'t str,
        value: Expr<'t>,
    },
}

/// How a loop exposes its item.
pub(super) enum Bind<'t> {
    /// As the context; the names are those of the item and of its key.
    Context(Vec<&'t str>),
    /// By its name, or its parts by theirs.
    Names(Vec<&'t str>),
}

pub(super) enum Expr<'t> {
    Value(Value),
    Path(NamePath<'t>),
    List(Vec<Expr<'t>>),
    Not(Box<Expr<'t>>),
    Negative(Box<Expr<'t>>),
    /// Operators of one precedence, from left to right.
    Chain(Box<Expr<'t>>, Vec<(Operator, Expr<'t>)>),
    /// Members, filters and tests, in sequence.
    Then(Box<Expr<'t>>, Vec<Post<'t>>),
    /// The first if the condition is true, else the second or nothing.
    Choose {
        condition: Box<Expr<'t>>,
        then: Box<Expr<'t>>,
        otherwise: Option<Box<Expr<'t>>>,
    },
    /// The numbers from the first bound, or 0, up to the last, exclusive.
    Range(Vec<Expr<'t>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Join,
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideWhole,
    Remainder,
}

pub(super) enum Post<'t> {
    Member(Expr<'t>),
    Filter(&'static str, Vec<Expr<'t>>),
    /// The default of a missing value, and whether it also replaces an empty one.
    Default(Vec<Expr<'t>>),
    Test {
        name: &'static str,
        negated: bool,
    },
}

/// A name with its members.
pub(super) struct NamePath<'t> {
    pub(super) base: Base,
    pub(super) steps: Vec<&'t str>,
    /// The source text.
    pub(super) text: &'t str,
}

/// The start of a path.
#[derive(Clone, Copy)]
pub(super) enum Base {
    /// A local name, else one of the data.
    Name,
    /// The nearest context that has the first step.
    Nearest,
    /// The context, or the one this many levels above.
    Context(usize),
    /// The data.
    Root,
}
