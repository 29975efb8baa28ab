use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;
use tiny::sum;

fn all(c: &mut Criterion) {
    c.bench_function("sum", |b| b.iter(|| sum(black_box(100))));
}

criterion_group!(benches, all);
criterion_main!(benches);
