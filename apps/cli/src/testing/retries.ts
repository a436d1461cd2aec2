/**
 * How often a failed test runs again. Once in CI (`CI` is set), where a busy machine must not fail a change; the summary names the test.
 * Never on a developer's machine, where the failure should be seen at once.
 */
export const retries = ({ CI = '' }: Readonly<Record<string, string | undefined>>): number =>
  CI === '' || CI === 'false' ? 0 : 1;
