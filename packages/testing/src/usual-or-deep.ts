/** The size of a test that proves more with every repetition: that of the usual run, or that of `svc test --deep`. */
export const usualOrDeep = <T>(usual: T, deep: T): T => (process.env['TEST_DEEP'] === '1' ? deep : usual);
