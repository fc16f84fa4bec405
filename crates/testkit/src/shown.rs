//! What a page shows.

/// The text of a page or a part of it: without the elements that keep words together, mark them and link them.
pub fn shown(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut is_text = true;
    for letter in html.chars() {
        match letter {
            '<' => is_text = false,
            '>' if !is_text => is_text = true,
            letter if is_text => text.push(letter),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn elements_are_not_shown() {
        assert_eq!(shown("<p>at <b>18 %</b> &lt; 20 > 10</p>"), "at 18 % &lt; 20 > 10");
    }
}
