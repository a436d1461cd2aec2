/** The version for which this driver is written and tested. `--legacy-peer-deps` leaves out 60 MB that the package already includes. */
export const pin = {
  package: '@anthropic-ai/claude-agent-sdk',
  version: '0.3.329',
  installArgs: ['--legacy-peer-deps'] as readonly string[],
};

/** Models to choose from, the most capable first. Any other id of the vendor can be set too. */
export const models = [
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-haiku-4-5',
] as const;

/** The vendor's cheapest model that is available to everyone: enough to name a conversation. */
export const titleModel = 'claude-haiku-4-5';
