import { REST } from '@discordjs/rest';

/** Longest wait for an answer, ms. */
const answerMs = 20_000;

/** The REST API with the token of one bot. Nothing is tried again in it, and nothing waits for a limit: who asks knows what can wait. */
export function createDiscordRest(token: string, apiUrl: string): REST {
  return new REST({
    api: apiUrl.replace(/\/+$/, ''),
    version: '10',
    timeout: answerMs,
    retries: 0,
    rejectOnRateLimit: () => true,
  }).setToken(token);
}
