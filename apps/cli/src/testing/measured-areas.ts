/** Critical code, whose faults would let strangers in or leak secrets; its test coverage is measured. */
export type MeasuredArea = {
  name: string;
  /** Globs from the root of the repository. */
  sources: readonly string[];
  /** Quick tests in one process: they run for each of many changed copies of the sources. */
  tests: readonly string[];
  /** Additional tests for branch coverage, which run once. */
  moreTests?: readonly string[];
};

const withoutTests = (folder: string) => [`${folder}/**/*.ts`, `!${folder}/**/*.test.ts`];

export const measuredAreas: readonly MeasuredArea[] = [
  {
    name: 'trust',
    sources: withoutTests('apps/core/src/trust'),
    tests: [
      'apps/core/src/trust/**/*.test.ts',
      'apps/core/test/{trust-principals,trust-roles,trust-last-owner,trust-resolve,trust-audit,pairing}.test.ts',
    ],
  },
  {
    name: 'vault',
    sources: [...withoutTests('apps/vault/src'), '!apps/vault/src/main.ts', '!apps/vault/src/keep-memory-private.ts'],
    tests: ['apps/vault/src/**/*.test.ts', 'apps/vault/test/{agents,answers,sealing,rotation,tampering,start}.test.ts'],
  },
  {
    // The set-up, passkeys and routes are tested over HTTP (`apps/core/test`), which derives a password each time.
    name: 'login',
    sources: [
      'apps/core/src/auth/{accounts,known-devices,login-cookie,login-sessions,login-throttle,login-visit,visitor}.ts',
      'apps/core/src/auth/{passkey-challenges,passkey-host,password,seal,second-factor,sign-in}.ts',
    ],
    tests: ['apps/core/src/auth/*.test.ts'],
    moreTests: ['apps/core/test/{login,login-attacks}.test.ts'],
  },
  {
    // Its routes and pages are tested over HTTP (`connectors/toolserver/test`), which takes too long for every change.
    name: 'oauth',
    sources: [
      'connectors/toolserver/src/oauth/{check-token,default-scope,named-documents,oauth-paths,redirect-uris,server-keys,stored-models}.ts',
      'connectors/toolserver/src/consent/{approval-codes,approvals,waiting-clients}.ts',
      'connectors/toolserver/src/people/{client-user,clients-file}.ts',
    ],
    tests: ['connectors/toolserver/src/{oauth,consent,people}/*.test.ts', 'connectors/toolserver/test/server-keys.test.ts'],
    moreTests: ['connectors/toolserver/test/attacks.test.ts'],
  },
  {
    // The files that a sender, a connector or an engine can access.
    name: 'confinement',
    sources: [
      'packages/service-kit/src/{upload-file,connector-pass}.ts',
      'apps/core/src/file/file-name.ts',
      'apps/core/src/upload/{outgoing-file,check-uploader}.ts',
      'apps/core/src/session/conversation-files.ts',
    ],
    tests: [
      'packages/service-kit/src/{upload-file,connector-pass}.test.ts',
      'apps/core/src/file/file-name.test.ts',
      'apps/core/src/upload/outgoing-file.test.ts',
      'apps/core/src/session/conversation-files.test.ts',
    ],
  },
  {
    name: 'redaction',
    sources: [...withoutTests('packages/service-kit/src/redaction'), ...withoutTests('packages/service-kit/src/secrets')],
    tests: [
      'packages/service-kit/src/{redaction,secrets}/**/*.test.ts',
      'packages/service-kit/test/{redaction-corpus,secret-sources}.test.ts',
    ],
    moreTests: ['packages/service-kit/test/redaction-*.test.ts'],
  },
];
