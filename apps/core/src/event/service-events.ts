import type { Announcement } from '@svc/contract/announcement.ts';
import type { Delivery } from '@svc/contract/delivery.ts';
import type { ModelServer } from '@svc/contract/engine.ts';
import type { Session } from '@svc/contract/session.ts';
import type { Linked } from '../trust/link-identity.ts';
import type { NewTrustChange } from '../trust/trust-audit.ts';
import type { Peer } from '@svc/service-kit/connector-pass.ts';
import type { EventOut } from './event-out.ts';

/** Events outside of turns: deliveries, trust, engines, the service itself. */
export interface ServiceEvents {
  delivery(delivery: Delivery): void;
  claim(key: string, what: 'claimed' | 'released', by: string | null): void;
  /** A session's title was changed or removed. */
  titled(key: string, title: string | null, by: Session['title_by']): void;
  /** An identifier was assigned to a principal, which admits its sender. */
  linked(what: 'linked' | 'paired' | 'joined', linked: Linked): void;
  /** Trust was changed; the text is masked already. */
  trustChanged(change: NewTrustChange): void;
  /** A note was posted. Its label is the poster's own text, so it is not the event's session. */
  announcement(announcement: Announcement): void;
  /** An announcement was withdrawn before it expired. */
  announcementDeleted(announcement: Announcement): void;
  /** An engine was installed or updated, or that failed. */
  engine(engineId: string, code: 'installed' | 'updated' | 'update_failed', message: string): void;
  /** A model server on this machine appeared or disappeared. */
  modelServer(what: 'appeared' | 'gone', server: ModelServer): void;
  /** A connector used the name of another channel, conversation or turn, and was refused. */
  impersonation(peer: Peer, claim: { what: string; name: string }): void;
  /** The database is damaged; the text says which one and what to do. */
  damaged(text: string): void;
  service(what: 'started' | 'stopping'): void;
}

export const serviceEvents = ({ send, mask }: EventOut): ServiceEvents => ({
  delivery: (delivery: Delivery) =>
    send({
      kind: 'delivery',
      session: delivery.conversation_key,
      instance_id: delivery.instance_id,
      injected: delivery.injected,
      payload: {
        turn_id: delivery.turn_id,
        delivery_id: delivery.id,
        what: delivery.state,
        attempts: delivery.attempts,
        ...(delivery.error === null ? {} : { error: mask(delivery.error) }),
      },
    }),
  claim: (key: string, what: 'claimed' | 'released', by: string | null) =>
    send({ kind: 'session', session: key, payload: { what, by } }),
  titled: (key: string, title: string | null, by: Session['title_by']) =>
    send({ kind: 'session', session: key, payload: { what: 'titled', title: title === null ? null : mask(title), by } }),
  linked: (what: 'linked' | 'paired' | 'joined', { principal, identifier, role }: Linked) =>
    send({
      kind: 'trust',
      surface: identifier.surface,
      identity: identifier.value,
      principal: principal.key,
      payload: { what, principal_id: principal.id, is_new: principal.is_new, identifier_id: identifier.id, role },
    }),
  trustChanged: ({ actor, what, principal, before, after }: NewTrustChange) => {
    const { surface, value } = { ...before, ...after };
    send({
      kind: 'trust',
      surface: typeof surface === 'string' ? surface : null,
      identity: typeof value === 'string' ? value : null,
      principal,
      payload: { what, actor, before, after },
    });
  },
  announcement: ({ id, target, text, priority, from_session, expires_at }: Announcement) =>
    send({
      kind: 'announcement',
      text: mask(text),
      payload: { id, target: mask(target), priority, from: mask(from_session), expires_at },
    }),
  announcementDeleted: ({ id, target }: Announcement) =>
    send({ kind: 'announcement', payload: { what: 'deleted', id, target: mask(target) } }),
  engine: (engineId: string, code: 'installed' | 'updated' | 'update_failed', message: string) =>
    send({ kind: 'engine', text: mask(message), payload: { engine_id: engineId, code } }),
  modelServer: (what: 'appeared' | 'gone', { name, base_url, models }: ModelServer) =>
    send({
      kind: 'engine',
      text: mask(`${name} ${what === 'appeared' ? 'answers' : 'no longer answers'} at ${base_url}.`),
      payload: { code: `model_server_${what}`, name, base_url, models: models.slice(0, 20) },
    }),
  impersonation: ({ type, instanceId }: Peer, claim: { what: string; name: string }) =>
    send({
      kind: 'instance',
      surface: type,
      instance_id: instanceId,
      text: mask(`It made a request in the name of the ${claim.what} "${claim.name}" and was refused.`),
      payload: { what: 'impersonation', claim: { what: claim.what, name: mask(claim.name) } },
    }),
  damaged: (text: string) => send({ kind: 'service', text, payload: { service: 'core', what: 'database_damaged' } }),
  service: (what: 'started' | 'stopping') => send({ kind: 'service', payload: { service: 'core', what } }),
});
