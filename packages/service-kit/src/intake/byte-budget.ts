type Waiting = { bytes: number; settle: (isIn: boolean) => void };

/** A limit of bytes that many holders share. Each takes bytes through a lease, which gives them back once. */
export class ByteBudget {
  readonly limit: number;
  held = 0;
  #waiting: Waiting[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  lease(): ByteLease {
    return new ByteLease(this);
  }

  /** Takes bytes if the total stays within `upTo` and no one is waiting; otherwise takes nothing and returns false. */
  take(bytes: number, upTo = this.limit): boolean {
    if (this.#waiting.length > 0 || this.held + bytes > upTo) return false;
    this.held += bytes;
    return true;
  }

  /** Waits for bytes, in the order of requests; false if there was no room within the time. */
  wait(bytes: number, withinMs: number): Promise<boolean> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.held += bytes;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (isIn: boolean) => {
        clearTimeout(timer);
        resolve(isIn);
      };
      const own = { bytes, settle };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== own);
        settle(false);
        this.#admitWaiting();
      }, withinMs);
      this.#waiting.push(own);
    });
  }

  give(bytes: number): void {
    this.held -= bytes;
    this.#admitWaiting();
  }

  /** A request larger than the whole budget is admitted when nothing else is held. */
  #fits(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= this.limit;
  }

  #admitWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.held += next.bytes;
      next.settle(true);
    }
  }
}

/** The bytes of one holder. Ends with `release`, which may be called more than once. */
export class ByteLease {
  readonly #budget: ByteBudget;
  #isOver = false;
  bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  take(bytes: number, upTo?: number): boolean {
    if (this.#isOver || !this.#budget.take(bytes, upTo)) return false;
    this.bytes += bytes;
    return true;
  }

  /** Like `take`, but waits for its turn. Also false if the lease ended meanwhile. */
  async wait(bytes: number, withinMs: number): Promise<boolean> {
    if (!(await this.#budget.wait(bytes, withinMs))) return false;
    if (this.#isOver) this.#budget.give(bytes);
    else this.bytes += bytes;
    return !this.#isOver;
  }

  /** Gives all bytes back; more may be taken later. */
  clear(): void {
    const { bytes } = this;
    this.bytes = 0;
    if (bytes > 0) this.#budget.give(bytes);
  }

  release(): void {
    this.#isOver = true;
    this.clear();
  }
}
