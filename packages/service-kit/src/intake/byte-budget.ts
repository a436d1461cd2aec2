type Waiting = { bytes: number; settle: (isIn: boolean) => void };

/** A bound on bytes that many hold together. What is taken is given back by the lease that took it, once. */
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

  /** Takes bytes while the total stays within `upTo`; false takes nothing. Those who wait come first. */
  take(bytes: number, upTo = this.limit): boolean {
    if (this.#waiting.length > 0 || this.held + bytes > upTo) return false;
    this.held += bytes;
    return true;
  }

  /** Takes bytes in the order they were asked for; false when there was no room within the time. */
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
        this.#letIn();
      }, withinMs);
      this.#waiting.push(own);
    });
  }

  give(bytes: number): void {
    this.held -= bytes;
    this.#letIn();
  }

  /** What is larger than the whole budget gets in alone. */
  #fits(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= this.limit;
  }

  #letIn(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.held += next.bytes;
      next.settle(true);
    }
  }
}

/** What one holder has taken. Ends with `release`, however often that is called. */
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

  /** As `take`, in line. False also when the lease ended meanwhile. */
  async wait(bytes: number, withinMs: number): Promise<boolean> {
    if (!(await this.#budget.wait(bytes, withinMs))) return false;
    if (this.#isOver) this.#budget.give(bytes);
    else this.bytes += bytes;
    return !this.#isOver;
  }

  /** Gives back what it holds; more may be taken later. */
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
