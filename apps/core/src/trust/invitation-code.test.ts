import { expect, test } from 'vitest';
import { invitationIn, inviteLinkOf } from '@svc/contract/invitation.ts';

test.each([
  'ABCD-EFGH-JKMN',
  'abcd efgh jkmn',
  ' ABCDEFGHJKMN ',
  '/start ABCD-EFGH-JKMN',
  '/start@my_bot abcd-efgh-jkmn',
  'ABCD–EFGH–JKMN',
])('"%s" is recognized as an invitation code', (text) => {
  expect(invitationIn(text)).toBe('ABCDEFGHJKMN');
});

test.each([
  '',
  '/start',
  '/start pair',
  'ABCD-EFGH',
  'ABCD-EFGH-JKM0',
  'ABCD-EFGH-JKMNP',
  'my code is ABCD-EFGH-JKMN',
  '/stop ABCD-EFGH-JKMN',
  '/startABCD-EFGH-JKMN',
  'ABCD_EFGH_JKMN',
  `ABCD${' '.repeat(100)}EFGH-JKMN`,
])('"%s" is not an invitation code', (text) => {
  expect(invitationIn(text)).toBeNull();
});

test('the link of an invitation contains its code', () => {
  expect(inviteLinkOf('https://t.me/my_bot?start={code}', 'ABCD-EFGH-JKMN')).toBe('https://t.me/my_bot?start=ABCD-EFGH-JKMN');
});
