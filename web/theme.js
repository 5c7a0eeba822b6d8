// Sets the chosen colour scheme before the first paint.
{
  const theme = localStorage.getItem("rekindle-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
