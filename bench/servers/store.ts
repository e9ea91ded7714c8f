/** An empty store for one measurement: a database of its own, or a Redis of its own. */
export interface Store extends AsyncDisposable {
  /** What a system connects to: `postgres://…` or `redis://…`. */
  url: string;
  unfinished(): Promise<number>;
  /** The same question for the end of a drain, where it is asked often: cheaper than counting. */
  isDrained(): Promise<boolean>;
  /** CPU time that the whole server has taken so far. */
  cpuSeconds(): number;
}
