import { t } from '@svc/chat-ui/language/t.ts';

/** The buttons of a form. `submit`: verb and thing. `isOff`: the form is being sent, or is incomplete. Without `onClose` there is no Cancel. */
export function FormButtons({ submit, isOff, onClose }: { submit: string; isOff: boolean; onClose?(): void }) {
  return (
    <p className="row-buttons">
      <button type="submit" className="primary" disabled={isOff}>
        {submit}
      </button>
      {onClose !== undefined && (
        <button type="button" className="plain-button" onClick={onClose}>
          {t('Cancel')}
        </button>
      )}
    </p>
  );
}
