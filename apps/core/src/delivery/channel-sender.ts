import { onlyAnswers, type About } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** The outcome of one attempt. `permanent`: another attempt would fail in the same way. */
export type SendOutcome = { delivered: true } | { delivered: false; permanent: boolean; error: string };

/** A text, or a file of the upload area. `kind`: one of the channel's own kinds; the usual one by default. `about`: the turn that it is the reply of, if any. */
export type ChannelMessage = {
  id: string;
  instance_id: string;
  target: string;
  kind?: string;
  text?: string;
  path?: string;
  about?: About;
};
export type SendToChannel = (message: ChannelMessage) => Promise<SendOutcome>;

type SendAnswer = { delivered?: boolean; message?: string; error?: string; reason?: string };

const timeoutMs = 10_000;
/** The instance does not exist, or the message itself is refused. Other faults may be temporary: a restart, a token, a limit. */
const permanentStatuses = [400, 404, 413, 415, 422];

/**
 * Sends texts by the manager's `/send`. The id is sent as `Idempotency-Key`, and it alone identifies the message: the text is
 * masked at each attempt, and a later attempt may mask it differently. Never throws.
 */
export const createChannelSender =
  (managerUrl: string, token: Secret | null): SendToChannel =>
  async ({ id, ...body }) => {
    try {
      const headers = { 'idempotency-key': id, 'idempotency-text': 'may-change' };
      const { status, body: answer } = await requestJson<SendAnswer>(`${managerUrl}/send`, { token, body, headers, timeoutMs });
      if (status < 300 && answer.delivered !== false) return { delivered: true };
      const why = answer.message ?? answer.error ?? 'no reason given';
      const permanent = permanentStatuses.includes(status) || answer.reason === onlyAnswers;
      return { delivered: false, permanent, error: `the manager answered ${status}: ${why}` };
    } catch (error) {
      return { delivered: false, permanent: false, error: `the manager could not be reached: ${errorText(error)}` };
    }
  };
