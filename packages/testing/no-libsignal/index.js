/** Only the WhatsApp server of crabline uses libsignal, and no test starts that. */
function missing() {
  throw new Error('libsignal is not installed. See docs/decisions/0010-nothing-under-the-gpl.md.');
}
export { missing as ProtocolAddress, missing as SessionCipher, missing as SessionRecord };
