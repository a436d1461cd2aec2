/** The version this driver is written and tested for. `--legacy-peer-deps` leaves out 60 MB that the package has inlined. */
export const pin = {
  package: '@anthropic-ai/claude-agent-sdk',
  version: '0.3.329',
  installArgs: ['--legacy-peer-deps'] as readonly string[],
};

/** Models to choose from, the most able first. Any other id of the vendor may be set as well. */
export const models = [
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-haiku-4-5',
] as const;

/** The cheapest that the vendor serves to everybody: enough to name a conversation. */
export const titleModel = 'claude-haiku-4-5';
