"""Sphinx's configuration. scripts/site.py gathers the pages and calls Sphinx: run it by `make site`."""

project = "perfgate"
author = "the perfgate authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["alert"]
# As GitHub names the headings, at every level.
myst_heading_anchors = 6
# Examples of output are blocks without a language; configurations show keys that only look like TOML.
highlight_language = "none"
# A heading may skip a level; what must hold is links.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Quotes on a page are often those to type.
smartquotes = False

html_theme = "furo"
html_title = "perfgate"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_permalinks_icon = "#"
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
