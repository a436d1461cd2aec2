/** The version for which this driver is written and tested. The app-server's protocol changes weekly: raise it together with the tests. */
export const pin = { package: '@openai/codex', version: '0.169.0', installArgs: [] as readonly string[] };

/** Models to choose from, the most capable first. Any other id of the vendor, or of a self-hosted endpoint, can be set too. */
export const models = ['gpt-6-astra', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-luna', 'gpt-5.5'] as const;
