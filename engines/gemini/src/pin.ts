/**
 * The version this driver is written and tested for. Much of what it relies on is how this version happens to work:
 * raise it with the tests. The optional native parts are for an interactive terminal.
 */
export const pin = {
  package: '@google/gemini-cli',
  version: '0.61.0',
  installArgs: ['--omit=optional'] as readonly string[],
};

/** What its word `flash` stands for: a model that every key may use. Its own choice costs one more request a turn. */
export const defaultModel = 'gemini-3.8-flash';

/** Models to choose from, the one that is used unless another is set first. Any other id of the vendor may be set as well. */
export const models = [
  defaultModel,
  'gemini-3.5-flash-lite',
  'gemini-3.1-pro-preview',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
] as const;

/** The cheapest that every key may use: enough to name a conversation. */
export const titleModel = 'gemini-3.5-flash-lite';
