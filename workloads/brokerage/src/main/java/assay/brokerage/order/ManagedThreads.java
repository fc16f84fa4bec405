package assay.brokerage.order;

import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.inject.Singleton;
import java.util.concurrent.Executor;

/** The server's own pool of managed threads. */
@Singleton
public class ManagedThreads implements Executor {
  @Resource private ManagedExecutorService pool;

  @Override
  public void execute(Runnable task) {
    pool.execute(task);
  }
}
