//! Texts that an agent or a user declares: none of them may be a secret.

use model::OpError;
use text::secrets::{self, Profile};

/// Refuses texts that look like secrets.
pub(crate) fn refuse_secrets(texts: &[(&str, &str)]) -> Result<(), OpError> {
    for (param, text) in texts {
        if let Some(found) = secrets::first(text, Profile::Declared) {
            let error = OpError::secret(param, found.rule);
            return Err(error.hint("Say where the secret is kept instead."));
        }
    }
    Ok(())
}
