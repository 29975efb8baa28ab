package a;
public class WorkBenchmark {
  public static void main(String[] args) {
    long sum = 0;
    for (int i = 0; i < 300000000; i++) sum += i % 7;
    System.out.println(sum);
  }
}
