use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, SamplingMode, Throughput};
use std::hint::black_box;
use std::time::Duration;
use tiny::sum;

fn all(c: &mut Criterion) {
    c.bench_function("sum", |b| b.iter(|| sum(black_box(100))));
    let mut group = c.benchmark_group("new");
    for n in [10u64, 1000] {
        group.throughput(Throughput::Bytes(n));
        group.bench_with_input(BenchmarkId::new("new", n), &n, |b, &n| b.iter(|| sum(n)));
    }
    group.finish();
    let mut group = c.benchmark_group("a/b");
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function("\"quoted\"\n🐢", |b| b.iter(|| sum(black_box(1000))));
    // beside the one before it in the same directory, if ":" and "/" were not separable
    group.bench_function("\"quoted\"\n🐢:", |b| b.iter(|| sum(black_box(1000))));
    group.finish();
    match std::env::var("TINY_TROUBLE").as_deref() {
        Ok("panic") => c.bench_function("panics", |b| b.iter(|| panic!("as asked"))),
        Ok("twice") => c.bench_function("sum", |b| b.iter(|| sum(black_box(100)))),
        Ok("zero") => c.bench_function("zero", |b| b.iter_custom(|_| Duration::ZERO)),
        _ => c,
    };
}

criterion_group!(benches, all);
criterion_main!(benches);
