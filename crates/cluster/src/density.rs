//! HDBSCAN (Campello, Moulavi, Sander 2013): the hierarchy of all density thresholds, and its most stable clusters.

use crate::matrix::{Dot, ONE};
use crate::{CLUSTER_MIN, DENSITY_SAMPLES, Matrix, neighbours};

/// Rows that are nearer than this count as equally near. Without the bound a few copies of one text would be the most
/// stable cluster of all, and the rest of their theme would be noise.
const DISTANCE_LEAST: f64 = 0.05;

/// The cluster of each row; `None` is noise.
pub(crate) fn clusters(matrix: &Matrix, weights: &[f64]) -> Vec<Option<usize>> {
    let merges = merges(matrix.rows(), &spanning_tree(matrix));
    Condensed::of(weights, &merges).labels()
}

/// An edge of the spanning tree.
struct Edge {
    similarity: Dot,
    rows: (usize, usize),
}

/// The maximum spanning tree (Prim) of the similarities. The similarity of two rows counts at most as much as that of
/// each to its nearest neighbour (mutual reachability), so that a lone row is far from all others.
fn spanning_tree(matrix: &Matrix) -> Vec<Edge> {
    let nearest = neighbours::nearest(matrix, DENSITY_SAMPLES - 1);
    let cores: Vec<Dot> =
        nearest.iter().map(|list| list.last().map_or(Dot::MIN, |(dot, _)| *dot)).collect();
    let mut edges = Vec::with_capacity(matrix.rows());
    // The rows outside of the tree, each with its best edge into the tree.
    let mut outside: Vec<(usize, Dot, usize)> =
        (1..matrix.rows()).map(|row| (row, Dot::MIN, 0)).collect();
    let mut newest = 0;
    while !outside.is_empty() {
        let mut best = (Dot::MIN, usize::MAX, 0);
        for (at, (row, similarity, from)) in outside.iter_mut().enumerate() {
            let mutual = matrix.dot(newest, *row).min(cores[newest]).min(cores[*row]);
            if mutual > *similarity {
                (*similarity, *from) = (mutual, newest);
            }
            if *similarity > best.0 || (*similarity == best.0 && *row < best.1) {
                best = (*similarity, *row, at);
            }
        }
        let (row, similarity, from) = outside.swap_remove(best.2);
        edges.push(Edge { similarity, rows: (from.min(row), from.max(row)) });
        newest = row;
    }
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.similarity), edge.rows));
    edges
}

/// Two groups become one at a density (one divided by the distance). Group numbers below the number of rows are single
/// rows; group `rows + n` is the result of merge `n`.
struct Merge {
    parts: [usize; 2],
    density: f64,
    rows: usize,
}

/// The merges of single linkage, the densest first; the last one has all rows.
fn merges(rows: usize, edges: &[Edge]) -> Vec<Merge> {
    let mut merges: Vec<Merge> = Vec::with_capacity(edges.len());
    let mut parents: Vec<usize> = (0..rows + edges.len()).collect();
    for edge in edges {
        let parts = [edge.rows.0, edge.rows.1].map(|row| top(&mut parents, row));
        let size = |group: usize| group.checked_sub(rows).map_or(1, |at| merges[at].rows);
        let rows_of_both = size(parts[0]) + size(parts[1]);
        for part in parts {
            parents[part] = rows + merges.len();
        }
        let distance = 1.0 - f64::from(edge.similarity) / ONE;
        merges.push(Merge {
            parts,
            density: distance.max(DISTANCE_LEAST).recip(),
            rows: rows_of_both,
        });
    }
    merges
}

/// The group that a row belongs to by now. Shortens the path to it.
fn top(parents: &mut [usize], mut row: usize) -> usize {
    while parents[row] != row {
        parents[row] = parents[parents[row]];
        row = parents[row];
    }
    row
}

/// A branch of the condensed hierarchy.
struct Branch {
    parent: usize,
    /// The density at which it separates from its parent.
    birth: f64,
    /// The weights of its rows, each times the range of densities over which the row stays in the branch.
    stability: f64,
}

/// The hierarchy without splits that only shed a few rows.
struct Condensed {
    /// The first has all rows; a branch comes after its parent.
    branches: Vec<Branch>,
    /// The branch that each row left last.
    left: Vec<usize>,
}

impl Condensed {
    fn of(weights: &[f64], merges: &[Merge]) -> Self {
        let rows = weights.len();
        let root = Branch { parent: 0, birth: 0.0, stability: 0.0 };
        let mut condensed = Self { branches: vec![root], left: vec![0; rows] };
        let mut open = vec![(rows + merges.len() - 1, 0)];
        while let Some((group, branch)) = open.pop() {
            let Some(merge) = group.checked_sub(rows).map(|at| &merges[at]) else { continue };
            let size = |part: usize| part.checked_sub(rows).map_or(1, |at| merges[at].rows);
            let is_split = merge.parts.iter().all(|part| size(*part) >= CLUSTER_MIN);
            for part in merge.parts {
                if is_split {
                    condensed.leave(branch, merge.density, &members(part, rows, merges), weights);
                    condensed.branches.push(Branch {
                        parent: branch,
                        birth: merge.density,
                        stability: 0.0,
                    });
                    open.push((part, condensed.branches.len() - 1));
                } else if size(part) >= CLUSTER_MIN {
                    open.push((part, branch));
                } else {
                    condensed.leave(branch, merge.density, &members(part, rows, merges), weights);
                }
            }
        }
        condensed
    }

    fn leave(&mut self, branch: usize, density: f64, members: &[usize], weights: &[f64]) {
        for row in members {
            self.left[*row] = branch;
            let lived = density - self.branches[branch].birth;
            self.branches[branch].stability += weights[*row] * lived;
        }
    }

    /// Chooses the branches that are more stable than all that they contain (excess of mass). The root is never chosen:
    /// it is everything.
    fn labels(&self) -> Vec<Option<usize>> {
        let mut inside = vec![0.0; self.branches.len()];
        let mut is_chosen = vec![false; self.branches.len()];
        for (at, branch) in self.branches.iter().enumerate().skip(1).rev() {
            is_chosen[at] = branch.stability >= inside[at];
            inside[branch.parent] += branch.stability.max(inside[at]);
        }
        let mut labels: Vec<Option<usize>> = vec![None; self.branches.len()];
        for (at, branch) in self.branches.iter().enumerate().skip(1) {
            labels[at] = labels[branch.parent].or(is_chosen[at].then_some(at));
        }
        self.left.iter().map(|branch| labels[*branch]).collect()
    }
}

/// The rows of a group.
fn members(group: usize, rows: usize, merges: &[Merge]) -> Vec<usize> {
    let mut members = Vec::new();
    let mut open = vec![group];
    while let Some(group) = open.pop() {
        match group.checked_sub(rows) {
            Some(at) => open.extend(merges[at].parts),
            None => members.push(group),
        }
    }
    members
}
