import type { Envelope } from '@svc/contract/envelope.ts';
import type { OpenReply } from '../ingress/lazy-reply.ts';

export type WorkingSign = {
  /**
   * Adds the sign to the message of an envelope, or removes it, unless a reaction of the reply has taken its place. It is a courtesy, so it
   * never rejects.
   */
  show(envelope: Envelope, isOn: boolean): Promise<unknown>;
  /** True where the sign cannot be shown. */
  isUnwanted?(envelope: Envelope): boolean;
};

/** Marks the message with a sign while the turn that answers it works. */
export const withWorkingSign =
  (openReply: OpenReply, { show, isUnwanted }: WorkingSign): OpenReply =>
  (envelope, turn) => {
    const reply = openReply(envelope, turn);
    if (envelope.message_id === undefined || isUnwanted?.(envelope) === true) return reply;
    const begun = show(envelope, true);
    const end = () => void begun.then(() => show(envelope, false));
    return {
      handlers: reply.handlers,
      async finish(result) {
        await reply.finish(result).finally(end);
      },
      async fail(error) {
        await reply.fail(error);
        end();
      },
    };
  };
