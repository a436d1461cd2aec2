/** Whether an address is on this machine: no proxy leads there, and a key of a vendor is nothing to it. */
export const isLoopbackUrl = (url: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
