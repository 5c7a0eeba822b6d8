// The script of the page for a browser that is not signed in. A one-time link that was opened from another site arrives
// without the cookie; after the key is stored, a reload of the page sends it.

import { pickUpKey } from "/session.js";

if (await pickUpKey().catch(() => false)) location.reload();
