import type { EngineRequest } from '../engine.ts';

/** A request with the values of a plain turn; a test sets the fields that matter. */
export function engineRequest(fields: Partial<EngineRequest> & Pick<EngineRequest, 'prompt' | 'cwd'>): EngineRequest {
  return {
    conversationKey: 'test:one',
    text: fields.prompt,
    system: 'You are an assistant in a test.',
    attachments: [],
    filesDir: null,
    transcript: [],
    resume: null,
    model: null,
    trustedFolder: false,
    toolPolicy: 'full',
    toolServers: [],
    facts: { channel: 'test', sender: 'tester', tier: 'SACRED', public: false, channel_context: {} },
    ...fields,
  };
}
