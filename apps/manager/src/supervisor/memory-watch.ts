/** Detects a process that uses more memory than it may. */
export type MemoryWatch = {
  /** Records a new sample of the process. */
  look(pid: number, bytes: number, limitMb: number): void;
};

/** One sample may be a peak that the next garbage collection frees. */
const samplesInARow = 2;

/** `onExceeded` is called once for each process that was over its limit in two samples in a row. */
export function createMemoryWatch(onExceeded: (pid: number, limitMb: number) => void): MemoryWatch {
  let over = { pid: 0, samples: 0 };
  return {
    look(pid, bytes, limitMb) {
      if (bytes <= limitMb * 1024 * 1024) over = { pid, samples: 0 };
      else over = { pid, samples: over.pid === pid ? over.samples + 1 : 1 };
      if (over.samples === samplesInARow) onExceeded(pid, limitMb);
    },
  };
}
