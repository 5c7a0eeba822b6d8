//! What a template says, whatever language it was written in.
//!
//! Chains of operators and filters are lists, so that only what is nested in the text is nested here.

use serde_json::Value;

pub(super) enum Node<'t> {
    Text(&'t str),
    Emit(Expr<'t>),
    /// The first arm whose condition is true, else the rest.
    If {
        arms: Vec<(Expr<'t>, Vec<Node<'t>>)>,
        otherwise: Vec<Node<'t>>,
    },
    /// Once for each member of a list or an object.
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
    /// Mustache's block: as `Each` for a list, as `If` for `true`, as `With` for anything else.
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

/// How the member of a loop is reached.
pub(super) enum Bind<'t> {
    /// It is the context; the names are those of it and of its place.
    Context(Vec<&'t str>),
    /// By its name, or its parts by theirs.
    Names(Vec<&'t str>),
}

pub(super) enum Expr<'t> {
    Value(Value),
    Path(Path<'t>),
    List(Vec<Expr<'t>>),
    Not(Box<Expr<'t>>),
    Negative(Box<Expr<'t>>),
    /// Operators of one precedence, from left to right.
    Chain(Box<Expr<'t>>, Vec<(Op, Expr<'t>)>),
    /// Members, filters and tests, one after the other.
    Then(Box<Expr<'t>>, Vec<Post<'t>>),
    /// The first if the condition is true, else the second or nothing.
    Choose {
        condition: Box<Expr<'t>>,
        then: Box<Expr<'t>>,
        otherwise: Option<Box<Expr<'t>>>,
    },
    /// The numbers from the first up to the second.
    Range(Vec<Expr<'t>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
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
    /// What stands for a value that is missing, and whether it also stands for an empty one.
    Default(Vec<Expr<'t>>),
    Test {
        name: &'static str,
        negated: bool,
    },
}

/// A name with its members.
pub(super) struct Path<'t> {
    pub(super) base: Base,
    pub(super) steps: Vec<&'t str>,
    /// As it was written.
    pub(super) text: &'t str,
}

/// Where a path begins.
#[derive(Clone, Copy)]
pub(super) enum Base {
    /// A local name, else one that was given.
    Name,
    /// The nearest context that has the first step.
    Nearest,
    /// The context, or the one so many above.
    Context(usize),
    /// What was given.
    Root,
}
