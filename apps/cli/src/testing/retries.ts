/**
 * How often a test that failed runs again. Once where nobody watches (`CI` is set), where a busy machine must not fail a change; the summary names it.
 * On a developer's machine never: there it should be seen at once.
 */
export const retries = ({ CI = '' }: Readonly<Record<string, string | undefined>>): number =>
  CI === '' || CI === 'false' ? 0 : 1;
