use criterion::{black_box, criterion_group, criterion_main, Criterion};
fn all(c: &mut Criterion) {
    let n: u64 = std::fs::read_to_string("data.txt").unwrap().parse().unwrap();
    c.bench_function("work", |b| b.iter(|| app::work(black_box(n))));
}
criterion_group!(benches, all);
criterion_main!(benches);
