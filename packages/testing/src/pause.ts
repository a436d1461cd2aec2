/** Waits by the clock of the machine. For what plays people and chance; a test that waits for something polls for it. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
