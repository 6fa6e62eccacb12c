//! What does not fit is refused, with the key, the value and what to write instead.

use rocelab_collective::{Algorithm, Collective, Error, Kind, Matrix, Options};

fn text(error: Error) -> String {
    error.to_string()
}

#[test]
fn collectives_that_do_not_fit() {
    let new = |kind, ranks, bytes| text(Collective::new(kind, ranks, bytes).expect_err("wrong"));
    assert_eq!(
        new(Kind::AllReduce, 0, 1),
        "ranks = 0: a collective has not so many; name 1 to 1048576 ranks"
    );
    assert_eq!(
        new(Kind::AllReduce, 4, u64::MAX),
        "bytes = 18446744073709551615: all ranks together have more than 2^62; \
         write at most 1152921504606846976"
    );
    assert_eq!(new(Kind::Barrier, 4, 8), "bytes = 8: a barrier carries no data; write 0");
    assert_eq!(
        new(Kind::AllToAllV, 4, 8),
        "kind = all-to-all-v: its blocks have sizes of their own; \
         give the matrix of bytes, or use all-to-all"
    );
    let three = || Collective::new(Kind::Broadcast, 3, 10).expect("fits");
    assert_eq!(
        text(three().with_root(3).expect_err("wrong")),
        "root = 3: there are 3 ranks; write 0 to 2"
    );
    assert_eq!(
        text(three().with_element(4).expect_err("wrong")),
        "bytes = 10: an element has 4 bytes; write a multiple of it"
    );
    assert_eq!(
        text(Matrix::new(&[vec![1, 2], vec![3]]).expect_err("wrong")),
        "matrix = row 1 of 1 columns: there are 2 rows; write as many columns as rows"
    );
    let most = u64::MAX;
    assert!(Matrix::new(&[vec![most, most], vec![most, most]]).is_err());
    assert!(Collective::all_to_all_v(Matrix::new(&[]).expect("square")).is_err());
}

#[test]
fn options_that_do_not_fit() {
    let six = Collective::new(Kind::AllReduce, 6, 600).expect("fits");
    let refused = |algorithm: Algorithm, options: Options| {
        text(algorithm.schedule(&six, &options).expect_err("wrong"))
    };
    let plain = Options::default;
    assert_eq!(
        refused(Algorithm::HalvingDoubling, plain()),
        "algorithm = halving-doubling: 6 ranks are no power of two; \
         write ring, or name 2, 4, 8, ... ranks"
    );
    assert_eq!(
        refused(Algorithm::Bruck, plain()),
        "algorithm = bruck: it does no all-reduce; write ring, double-binary-tree, \
         halving-doubling, recursive-doubling, direct, hierarchical, nvls"
    );
    assert_eq!(
        refused(Algorithm::Hierarchical, Options { ranks_per_server: 4, ..plain() }),
        "ranks_per_server = 4: 6 ranks are no whole servers then; write a divisor of the ranks"
    );
    assert_eq!(
        refused(Algorithm::Ring, Options { channels: 0, ..plain() }),
        "channels = 0: it is out of range; write 1 to 1024"
    );
    assert_eq!(
        refused(Algorithm::Ring, Options { chunk: Some(0), ..plain() }),
        "chunk = 0: an element has 1 bytes; write a multiple of it, and not 0"
    );
    let ring = |order: &[u32]| Options { rings: vec![order.to_vec()], ..plain() };
    assert_eq!(
        refused(Algorithm::Ring, ring(&[0, 1, 2, 3, 4, 4])),
        "rings = 4: it is there twice; name each of the ranks 0 to 5 once"
    );
    assert_eq!(
        refused(Algorithm::Ring, ring(&[0, 1, 2, 3, 4, 6])),
        "rings = 6: there is no such rank; name each of the ranks 0 to 5 once"
    );
    assert_eq!(
        refused(Algorithm::Ring, ring(&[0])),
        "rings = a ring of 1: there are 6 ranks; name each of the ranks 0 to 5 once"
    );
}
