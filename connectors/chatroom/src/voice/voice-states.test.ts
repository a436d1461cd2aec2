import { expect, test } from 'vitest';
import { createVoiceStates } from './voice-states.ts';

const member = (id: string, bot?: boolean) => ({ user: { id, username: id, ...(bot === true && { bot }) } });
const moved = (user_id: string, channel_id: string | null, more: object = {}) => ({
  t: 'VOICE_STATE_UPDATE',
  d: { guild_id: 'g', user_id, channel_id, ...more },
});
const created = {
  t: 'GUILD_CREATE',
  d: { id: 'g', members: [member('bot', true)], voice_states: [{ user_id: 'bot', channel_id: 'c' }] },
};

test('counts people per channel, without bots', () => {
  const states = createVoiceStates();
  expect(states.peopleIn('g', 'c')).toBeNull();
  states.note(created);
  expect(states.peopleIn('g', 'c')).toBe(0);
  for (const event of [moved('ann', 'c'), moved('ben', 'c'), moved('robot', 'c', { member: member('robot', true) })])
    states.note(event);
  expect(states.peopleIn('g', 'c')).toBe(2);
  states.note(moved('ann', 'other'));
  states.note(moved('ben', null));
  expect([states.peopleIn('g', 'c'), states.peopleIn('g', 'other')]).toEqual([0, 1]);
  states.note({ t: 'GUILD_DELETE', d: { id: 'g' } });
  expect(states.peopleIn('g', 'other')).toBeNull();
});

test.each([
  { t: null, d: null },
  { t: 'GUILD_CREATE', d: { id: 'g', voice_states: 7, members: [null, { user: 3 }] } },
  { t: 'VOICE_STATE_UPDATE', d: { guild_id: 'g', user_id: 7, channel_id: {} } },
  { t: 'VOICE_STATE_UPDATE', d: { guild_id: 'unknown', user_id: 'ann', channel_id: 'c' } },
])('ignores an invalid event: %j', (event) => {
  const states = createVoiceStates();
  states.note(created);
  states.note(event);
  expect(states.peopleIn('g', 'c')).toBe(0);
});
