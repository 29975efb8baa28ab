int work(int n);
