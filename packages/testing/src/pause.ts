/** Waits by the machine's clock. Only for simulated people and chance; a test that waits for a condition polls for it. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
