/**
 * What holds dialogs, menus and toasts: the last of the page, or of what fills the screen. A browser draws nothing
 * outside of that.
 */
export const floating = document.createElement("div");

function follow(): void {
  const focused = document.activeElement;
  (document.fullscreenElement ?? document.body).append(floating);
  // What is moved loses the focus.
  if (focused instanceof HTMLElement && floating.contains(focused)) focused.focus();
}

follow();
document.addEventListener("fullscreenchange", follow);
